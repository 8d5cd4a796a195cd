"""What every child process needs: frames over a socket, start, limits, end."""
