package proof

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// someUser is a user whom permissions bind, should the test be root's.
const someUser = 65534

// asUser runs the pipeline to an exit code, as a user whom permissions bind.
func (s *site) asUser(t *testing.T, want int, args ...string) *process {
	t.Helper()
	cmd := exec.Command(binary(t, "sluice"), args...)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: someUser, Gid: someUser}}
	}
	p := launchCommand(t, cmd)
	if got := p.wait(t); got != want {
		t.Fatalf("%v: exit %d, want %d\n%s%s", args, got, want, p.stdout.String(), p.stderr.text())
	}
	return p
}

// giveToUser lets the user in whom asUser stands for.
func (s *site) giveToUser(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	for _, folder := range []string{filepath.Dir(binary(t, "sluice")), filepath.Dir(s.judge.folder)} {
		must(t, func() error { return os.Chmod(folder, 0o711) })
	}
	must(t, func() error {
		return filepath.WalkDir(s.folder, func(name string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Chown(name, someUser, someUser)
		})
	})
}

func TestFolderWithoutPermissionIsNamedAndTheRunGoesOnWhenItIsGiven(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	s := j.site(t, fileSource, noteColumns, "", "checkpoint: checkpoint")
	p := &producer{}
	must(t, func() error { return p.land(s.landing, 10) })
	s.giveToUser(t)
	s.asUser(t, 0, "run", s.file)
	for _, test := range []struct {
		folder string
		mode   fs.FileMode
		store  string // the folder that the message names
		status int    // exit code of a look at it
	}{
		{s.table, 0o555, s.table, 0},
		{filepath.Join(s.table, "_delta_log"), 0o555, s.table, 0},
		{filepath.Join(s.table, "_delta_log"), 0, s.table, 1},
		{filepath.Join(s.checkpoint, "offsets"), 0o555, s.checkpoint, 0},
		{s.checkpoint, 0o555, s.checkpoint, 0},
		{s.checkpoint, 0, s.checkpoint, 1},
		{s.landing, 0, s.landing, 0},
	} {
		must(t, func() error { return p.land(s.landing, 10) })
		s.giveToUser(t)
		must(t, func() error { return os.Chmod(test.folder, test.mode) })
		t.Cleanup(func() { _ = os.Chmod(test.folder, 0o755) })
		wants(t, s.asUser(t, 1, "run", s.file), "permission denied; give the user that runs this", "access to "+test.store)
		s.asUser(t, test.status, "status", s.file)
		must(t, func() error { return os.Chmod(test.folder, 0o755) })
		s.asUser(t, 0, "run", s.file)
		if t.Failed() {
			t.Fatalf("%s with mode %v", test.folder, test.mode)
		}
	}
	s.check(t, p)
	j.judge(t)
}
