import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { findProvider } from './galera-cluster.js';
import { findProgram } from '../../../tooling/processes/find-program.js';

const NEEDED: { what: string; find: () => unknown }[] = [
  { what: 'mariadbd (Debian: mariadb-server)', find: () => findProgram('mariadbd') },
  { what: 'mariadb-install-db (Debian: mariadb-server)', find: () => findProgram('mariadb-install-db') },
  { what: 'the Galera library libgalera_smm.so (Debian: galera-4)', find: findProvider },
  { what: 'rsync, for the state transfer of Galera (Debian: rsync)', find: () => findProgram('rsync') },
  { what: 'redis-server (Debian: redis-server)', find: () => findProgram('redis-server') },
  { what: 'openssl, for certificates (Debian: openssl)', find: () => findProgram('openssl') },
  {
    what: 'the built service dist/main.js (npm run build)',
    find: () => existsSync(resolve(import.meta.dirname, '../../../dist/main.js')) || undefined,
  },
];

/** Nothing is left out in silence: a machine that cannot run all of it runs none of it, and is told why. */
export default function setup(): void {
  const missing = NEEDED.filter(({ find }) => find() === undefined).map(({ what }) => what);
  if (missing.length === 0) return;
  throw new Error(
    [
      '',
      'The fault tests did NOT run. Missing on this machine:',
      ...missing.map((what) => `  - ${what}`),
      '',
    ].join('\n'),
  );
}
