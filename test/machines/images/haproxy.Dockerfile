FROM debian:trixie-slim
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates haproxy \
  && groupmod --gid 99 haproxy && usermod --uid 99 --gid 99 haproxy
STOPSIGNAL SIGUSR1
USER haproxy
WORKDIR /var/lib/haproxy
CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
