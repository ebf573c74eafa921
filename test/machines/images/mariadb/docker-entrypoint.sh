#!/bin/sh
# Makes the database and its user at the first start; options are mariadbd's.
set -eu

if [ ! -d /var/lib/mysql/mysql ]; then
  chown mysql: /var/lib/mysql
  mariadb-install-db --user=mysql --skip-test-db >/dev/null
  cat >/tmp/first-start.sql <<SQL
CREATE DATABASE $MARIADB_DATABASE;
CREATE USER $MARIADB_USER@'%' IDENTIFIED BY '$MARIADB_PASSWORD';
GRANT ALL ON $MARIADB_DATABASE.* TO $MARIADB_USER@'%';
SQL
  chmod a+r /tmp/first-start.sql
  set -- "$@" --init-file=/tmp/first-start.sql
fi

exec mariadbd --user=mysql --bind-address=0.0.0.0 "$@"
