FROM minimal:bookworm
RUN apt-get update && apt-get install --yes --no-install-recommends dbus systemd
CMD ["/lib/systemd/systemd"]
