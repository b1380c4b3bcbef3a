import io.delta.storage.LocalLogStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Iterator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Puts commits on a local disk if absent, as the protocol wants it. Delta's own LocalLogStore looks whether a commit is there, and
 * then renames its own to that name, which replaces one that another process has put in between.
 */
public class PutIfAbsentLogStore extends LocalLogStore {
  public PutIfAbsentLogStore(Configuration conf) {
    super(conf);
  }

  @Override
  public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration conf) throws IOException {
    if (overwrite) {
      super.write(path, actions, true, conf);
      return;
    }
    java.nio.file.Path commit = Paths.get(path.toUri().getPath());
    java.nio.file.Path temporary = Files.createTempFile(commit.getParent(), ".", ".tmp");
    try {
      Files.write(temporary, (Iterable<String>) () -> actions);
      Files.createLink(commit, temporary); // FileAlreadyExistsException tells Delta of another's commit
    } finally {
      Files.delete(temporary);
    }
  }
}
