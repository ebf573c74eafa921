FROM debian:bookworm-slim
RUN groupadd --gid 999 --system mysql && useradd --uid 999 --gid mysql --home-dir /var/lib/mysql --system mysql \
  && apt-get update && apt-get install --yes --no-install-recommends mariadb-server \
  && rm --recursive /var/lib/mysql/* && install --directory --owner mysql /run/mysqld
COPY docker-entrypoint.sh healthcheck.sh /usr/local/bin/
VOLUME /var/lib/mysql
ENTRYPOINT ["docker-entrypoint.sh"]
EXPOSE 3306
CMD ["mariadbd"]
