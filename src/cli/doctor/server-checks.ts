import type { Check } from './check.js';

export const SERVER_CHECKS: Check[] = [
  {
    claim: 'every acknowledged change survives a crash of the database server',
    remedy:
      'Set innodb_flush_log_at_trx_commit=1 and, with a binary log, sync_binlog=1, unless you accept that loss for speed.',
    async findFaults({ env: { database } }) {
      if (database.engine === 'sqlite') return [];
      const { findUnsafeCommits } = await import('../../database/mysql/unsafe-commits.js');
      const unsafe = await findUnsafeCommits(database);
      return unsafe.map(({ host, settings, cost }) => `${host} has ${settings.join(', ')}: ${cost}`);
    },
  },
];
