import type { GaleraNode } from './galera-cluster.js';
import { withConnection } from '../../../tooling/servers/mariadb.js';
import { asRecords, asString } from '../../support/service-client.js';
import { waitFor } from '../../../tooling/wait.js';

/** Two, as many as there are threads that apply what other nodes wrote. */
const APPLIERS = [1, 2];
const TIMEOUT_MS = 10_000;

export async function prepareLag(writer: GaleraNode): Promise<void> {
  await writer.execute('CREATE TABLE test.held (id integer NOT NULL PRIMARY KEY, n integer NOT NULL)');
  for (const id of APPLIERS) await writer.execute(`INSERT INTO test.held VALUES (${id}, 0)`);
}

/**
 * The writer commits something that has not arrived on the lagging node, and the request begins there. The
 * node then catches up once the request waits for it, or has not waited.
 */
export async function whileLagging<Known, Answer>(
  { writer, lagging, schema }: { writer: GaleraNode; lagging: GaleraNode; schema: string },
  acknowledge: () => Promise<Known>,
  request: (known: Known) => Promise<Answer>,
): Promise<Answer> {
  return withConnection(lagging.port, async (holder) => {
    // Else it would make the whole cluster wait for itself.
    await holder.query('SET GLOBAL wsrep_desync = ON');
    try {
      // A table lock stops the threads that apply, at the first row that is for that table.
      await holder.query('LOCK TABLES test.held READ');
      for (const id of APPLIERS) await writer.execute(`UPDATE test.held SET n = n + 1 WHERE id = ${id}`);
      const known = await acknowledge();
      let answered = false;
      const answer = request(known).finally(() => (answered = true));
      // What it rejects with is for the await below.
      answer.catch(() => undefined);
      let before: string[] = [];
      await waitFor('the request waits', TIMEOUT_MS, async () => {
        const now = await statementsAt(lagging, schema);
        const waits = now.some((statement) => before.includes(statement));
        before = now;
        return answered || waits;
      });
      await holder.query('UNLOCK TABLES');
      return await answer;
    } finally {
      await holder.query('UNLOCK TABLES');
      await holder.query('SET GLOBAL wsrep_desync = OFF');
    }
  });
}

/** What is being run for the service, each told from the same statement run again. */
async function statementsAt(node: GaleraNode, schema: string): Promise<string[]> {
  const rows = await node.execute(
    `SELECT CONCAT(id, ' ', query_id) AS statement FROM information_schema.processlist
      WHERE db = '${schema}' AND command = 'Query' AND info IS NOT NULL`,
  );
  return asRecords(rows).map((row) => asString(row['statement']));
}
