package checkout

import (
	"math/rand/v2"
	"net"
)

// FreePorts finds so many free ports of the loopback interface in a row, and returns the first. They lie below those that systems give
// away by themselves, so that a server that is killed and started again does not find its port taken by a connection.
func FreePorts(n int) int {
	for {
		first := 10_000 + rand.IntN(22_000)
		free := 0
		for free < n && isFree(first+free) {
			free++
		}
		if free == n {
			return first
		}
	}
}

func isFree(port int) bool {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		return false
	}
	return l.Close() == nil
}
