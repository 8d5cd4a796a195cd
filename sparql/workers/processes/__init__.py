"""What every child process needs: frames over a socket, starting, limits, ending."""
