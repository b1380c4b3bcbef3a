// Package s3test gives tests an S3 server, versitygw, which keeps a bucket as a folder and an object as a file in it.
//
// Start installs the server's program into .cache/bin of the repository when it is first asked for, which takes some
// minutes, and runs it on a free port of the loopback interface with a folder of the test's own. Server.Kill and
// Server.Restart are its faults; those of the way to it are made by Proxy.
//
// A test is skipped where the program cannot be installed, and with -short; with CI=true it fails instead.
package s3test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/sluicedata/sluice/internal/checkout"
)

var versitygw = checkout.Program{Module: "github.com/versity/versitygw", Package: "cmd/versitygw", Version: "v1.8.0", Folder: "bin"}

// Credentials of the server's only user.
const (
	AccessKey = "test"
	SecretKey = "testtest"
	Region    = "us-east-1"
)

// Credentials are the same as the SDK wants them.
func Credentials() aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(AccessKey, SecretKey, "")
}

// Environment sets the variables by which the SDK's default chain finds the endpoint.
func Environment(t *testing.T, endpoint string) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": AccessKey, "AWS_SECRET_ACCESS_KEY": SecretKey, "AWS_REGION": Region, "AWS_ENDPOINT_URL": endpoint,
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
}

// Server is a running server.
type Server struct {
	URL  string // http://127.0.0.1:port
	Root string // the folder that holds the buckets' folders

	program, address string
	health           string // path that answers when the server is ready
	args             func(address, root string) []string
	mu               sync.Mutex
	cmd              *exec.Cmd // nil while it does not run
	output           bytes.Buffer
}

// Start runs a server until the end of the test. flags are more of the program's own, such as --max-requests 4.
func Start(tb testing.TB, flags ...string) *Server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("an S3 server is not started with -short")
	}
	program, err := checkout.Install(versitygw)
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal(err)
		}
		tb.Skipf("no S3 server: %v", err)
	}
	args := append([]string{"--region", Region, "--health", "/healthz", "--quiet", "--keep-alive"}, flags...)
	return launch(tb, &Server{program: program, health: "/healthz", args: func(address, root string) []string {
		return append(append([]string{"--port", address}, args...), "posix", root)
	}})
}

// MinIO is Start for another server, a second opinion: the program that SLUICE_MINIO names. Without one the test is skipped.
// A bucket is no folder of objects there.
func MinIO(tb testing.TB) *Server {
	tb.Helper()
	program := os.Getenv("SLUICE_MINIO")
	if program == "" {
		tb.Skip("no MinIO: SLUICE_MINIO does not name its program")
	}
	return launch(tb, &Server{program: program, health: "/minio/health/ready", args: func(address, root string) []string {
		return []string{"server", "--quiet", "--address", address, root}
	}})
}

// launch runs a server on a free port.
func launch(tb testing.TB, s *Server) *Server {
	tb.Helper()
	s.Root = tb.TempDir()
	for try := 0; ; try++ {
		s.address = fmt.Sprintf("127.0.0.1:%d", checkout.FreePorts(1))
		err := s.run(tb.Context())
		if err == nil {
			break
		}
		if try == 2 { // once or twice, another process may have taken the port
			tb.Fatal(err)
		}
	}
	s.URL = "http://" + s.address
	tb.Cleanup(func() { s.Kill(tb) })
	return s
}

// Kill ends the server with SIGKILL.
func (s *Server) Kill(tb testing.TB) {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return
	}
	if err := s.cmd.Process.Kill(); err != nil {
		tb.Error(err)
	}
	_ = s.cmd.Wait() // says that it was killed
	s.cmd = nil
}

// Restart kills the server and runs it again, on the same port and folder.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	s.Kill(tb)
	if err := s.run(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

// Bucket makes a new bucket.
func (s *Server) Bucket(tb testing.TB, name string) string {
	tb.Helper()
	client := s3.New(s3.Options{BaseEndpoint: &s.URL, UsePathStyle: true, Region: Region, Credentials: Credentials()})
	if _, err := client.CreateBucket(tb.Context(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		tb.Fatal(err)
	}
	return name
}

// Folder is where the server keeps a bucket's objects, or those below a prefix.
func (s *Server) Folder(bucket, prefix string) string { return filepath.Join(s.Root, bucket, prefix) }

// run starts the program and returns when it answers.
func (s *Server) run(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.output.Reset()
	cmd := exec.Command(s.program, s.args(s.address, s.Root)...)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+AccessKey, "ROOT_SECRET_KEY="+SecretKey,
		"MINIO_ROOT_USER="+AccessKey, "MINIO_ROOT_PASSWORD="+SecretKey, "MINIO_BROWSER=off", "MINIO_UPDATE=off")
	cmd.Stdout, cmd.Stderr = &s.output, &s.output
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := s.ready(ctx); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return fmt.Errorf("start %s: %w\n%s", s.program, err, s.output.String())
	}
	s.cmd = cmd
	return nil
}

const (
	startTimeout = 20 * time.Second
	pollInterval = 10 * time.Millisecond
)

func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+s.health, nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}
