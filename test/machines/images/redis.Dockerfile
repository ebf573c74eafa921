FROM minimal:bookworm
RUN groupadd --gid 1000 --system redis && useradd --uid 999 --gid redis --system redis \
  && apt-get update && apt-get install --yes --no-install-recommends redis-server \
  && install --directory --owner redis /data
VOLUME /data
WORKDIR /data
EXPOSE 6379
CMD ["redis-server"]
