import { ADMISSIONS, REQUESTS, type Sender, SENDERS } from '../client/protocol.ts';
import { fill } from '../fixture/fill.ts';
import { createFixture, PASSWORD } from '../fixture/fixture.ts';
import type { Options } from '../options.ts';
import { progress } from '../progress.ts';
import {
  type AdmissionSummary,
  type ClientReport,
  clientMarkdown,
  type RequestSummary,
} from '../report/client-report.ts';
import { surroundings } from '../report/surroundings.ts';
import { usedHashEngine } from '../report/used-hash-engine.ts';
import type { Written } from '../report/written.ts';
import { inTurn, processIds } from '../rounds.ts';
import { type ClientProgram, startClientProgram } from '../servers/client-program.ts';
import { databaseName } from '../servers/contenders.ts';
import { startFilled } from '../servers/filled-server.ts';
import { watchForeignLoad } from '../servers/foreign-load.ts';
import { keysFile } from '../servers/keys-file.ts';
import { describeMariaDb, startMariaDb } from '../servers/mariadb.ts';
import { addService, type ServiceCredentials } from '../servers/service-credentials.ts';
import { programOf } from './program.ts';

const NAME = 'service';
/** by default, the issuer and the audience of the service */
const ISSUER = 'accounts';
/** Many and short: other programs take the processors for longer than a round, and so from both senders. */
const ROUNDS = 40;
const QUICK_ROUNDS = 8;
const REQUESTS_OF_A_ROUND = { me: 500, rename: 100 };
const ADMISSIONS_OF_A_ROUND = 50_000;
/** The compiler has seen enough then. */
const WARM_UP_ROUNDS = 4;

/** Measures what the client costs beside bare `fetch`, and how many tokens the guard admits. */
export async function clientBesideFetch(options: Options, directory: string): Promise<Written> {
  const { quick } = options;
  progress('starting the database and the service');
  const mariadb = await startMariaDb(directory);
  const fixture = createFixture(keysFile(directory));
  const databaseUrl = await mariadb.createDatabase(databaseName(NAME));
  const program = programOf(options, { script: options.serviceScript, databaseUrl }, directory);
  let credentials: ServiceCredentials | undefined;
  const server = await startFilled(program, async () => {
    await fill(databaseUrl, [fixture], 0);
    credentials = await addService(program, 'guard', 'introspect,memberships,events');
  });
  const client = startClientProgram();
  const contenders = { names: [NAME], servers: { [NAME]: server }, databasePid: mariadb.pid };
  const foreignLoad = watchForeignLoad(processIds(contenders, client));
  const [org] = fixture.changingOrgs;
  const user = { email: fixture.keepers[0]!.email, password: PASSWORD };
  const setup = { url: server.url, issuer: ISSUER, user, orgId: org!.id, credentials: credentials! };
  await client.ask({ type: 'open', setup });

  const rounds = quick ? QUICK_ROUNDS : ROUNDS;
  const requests = await runRequests(client, rounds);
  const admissions = await runAdmissions(client, rounds);
  const report: ClientReport = {
    ...surroundings({
      database: await describeMariaDb(mariadb),
      hashEngine: usedHashEngine(contenders),
      quick,
      crowd: 0,
      foreignLoad: foreignLoad(),
    }),
    rounds,
    requests,
    admissions,
  };
  return { name: 'client', report, markdown: clientMarkdown(report) };
}

/** Each sender comes first in half of the rounds. */
async function runRequests(client: ClientProgram, rounds: number): Promise<RequestSummary[]> {
  const summaries: RequestSummary[] = [];
  for (const request of REQUESTS) {
    progress(`${request}, ${rounds} rounds`);
    const count = REQUESTS_OF_A_ROUND[request];
    const cpuMs: Record<Sender, number[]> = { fetch: [], client: [] };
    for (let round = 0; round < WARM_UP_ROUNDS + rounds; round += 1) {
      for (const sender of inTurn(SENDERS, round)) {
        const cost = await client.ask({ type: 'send', sender, request, count });
        if (round >= WARM_UP_ROUNDS) cpuMs[sender].push((cost.cpuMs / count) * 1000);
      }
    }
    summaries.push({ request, cpuMs });
  }
  return summaries;
}

async function runAdmissions(client: ClientProgram, rounds: number): Promise<AdmissionSummary[]> {
  const summaries: AdmissionSummary[] = [];
  for (const admission of ADMISSIONS) {
    progress(`${admission}, ${rounds} rounds`);
    const costs = [];
    while (costs.length < rounds) {
      costs.push(await client.ask({ type: 'admit', admission, count: ADMISSIONS_OF_A_ROUND }));
    }
    summaries.push({
      admission,
      tokensPerSecond: costs.map(({ cpuMs }) => (ADMISSIONS_OF_A_ROUND / cpuMs) * 1000),
      heapMib: costs.map(({ heapMib }) => heapMib),
    });
  }
  return summaries;
}
