import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { findProgram } from '../../../tooling/processes/find-program.js';
import { findProvider } from './galera-cluster.js';

/** with the Debian packages that contain them */
const PROGRAMS = {
  mariadbd: 'mariadb-server',
  'mariadb-install-db': 'mariadb-server',
  mariadb: 'mariadb-client',
  'mariadb-dump': 'mariadb-client',
  rsync: 'rsync, for the state transfer of Galera',
  'redis-server': 'redis-server',
  haproxy: 'haproxy',
  openssl: 'openssl, for certificates',
  unshare: 'util-linux, for a disk that is full',
};
const SERVICE = resolve(import.meta.dirname, '../../../dist/main.js');

/** Nothing is skipped silently: a machine that cannot run all of it runs none. */
export default function setup(): void {
  const missing = Object.entries(PROGRAMS)
    .filter(([name]) => findProgram(name) === undefined)
    .map(([name, debian]) => `${name} (Debian: ${debian})`);
  if (findProvider() === undefined) missing.push('the Galera library libgalera_smm.so (Debian: galera-4)');
  if (!existsSync(SERVICE)) missing.push('the built service dist/main.js (npm run build)');
  if (missing.length === 0) return;
  const lines = missing.map((what) => `  - ${what}`);
  throw new Error(['', 'The fault tests did NOT run. Missing on this machine:', ...lines, ''].join('\n'));
}
