FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends dbus systemd
CMD ["/lib/systemd/systemd"]
