package checkout

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"syscall"
)

// Program is a Go program that tests start. Its version is pinned here and not in go.mod.
type Program struct {
	Module  string // path
	Package string // below the module; its last element is the name of the executable
	Version string
	Folder  string // in .cache
}

// Install returns the path of the executable, which it makes if need be. That takes minutes. Processes wait for each other.
func Install(p Program) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(root, ".cache", p.Folder)
	executable := filepath.Join(folder, path.Base(p.Package))
	if p.isAt(executable) {
		return executable, nil
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(folder, ".lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	if p.isAt(executable) {
		return executable, nil
	}
	cmd := exec.Command("go", "install", p.Module+"/"+p.Package+"@"+p.Version)
	cmd.Env = append(os.Environ(), "GOBIN="+folder, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("install %s %s into %s: %w\n%s", p.Module, p.Version, folder, err, out)
	}
	return executable, nil
}

// isAt says whether an executable is the program in its version.
func (p Program) isAt(executable string) bool {
	info, err := buildinfo.ReadFile(executable)
	return err == nil && info.Main.Path == p.Module && info.Main.Version == p.Version
}
