// Measures the directory beside GET /api/me: npm run build && node bench/directory.ts [sqlite]
import { join } from 'node:path';
import { median } from '../tooling/median.ts';
import { removeAtExit } from '../tooling/processes/at-exit.ts';
import { fill } from './fixture/fill.ts';
import { createFixture } from './fixture/fixture.ts';
import { login } from './load/account-operations.ts';
import { WrongAnswer } from './load/answer.ts';
import type { Call, Operation } from './load/call.ts';
import { cycle } from './load/cycle.ts';
import { callForEach, drive } from './load/drive.ts';
import { me } from './load/read-operations.ts';
import { programOf } from './modes/program.ts';
import { readOptions } from './options.ts';
import { databaseName } from './servers/contenders.ts';
import { diskDirectory } from './servers/disk-directory.ts';
import { startFilled } from './servers/filled-server.ts';
import { keysFile, writeKeysFile } from './servers/keys-file.ts';
import { startMariaDb } from './servers/mariadb.ts';
import { addService } from './servers/service-credentials.ts';

const IDS = 100;
const WARM_UPS = 2;
const ROUNDS = 8;
const DURATION = { connections: 32, durationMs: 1_000 };

const options = readOptions(['--engine', process.argv[2] ?? 'mariadb']);
const directory = removeAtExit(diskDirectory());
writeKeysFile(directory);
const databaseUrl =
  options.engine === 'mariadb'
    ? await (await startMariaDb(directory)).createDatabase(databaseName('directory'))
    : `sqlite:${join(directory, 'directory.sqlite')}`;
const program = programOf(options, { script: options.serviceScript, databaseUrl }, directory);
const fixture = createFixture(keysFile(directory));
let authorization = '';
const { url } = await startFilled(program, async () => {
  await fill(databaseUrl, [fixture], 0);
  const { name, secret } = await addService(program, 'billing', 'directory');
  authorization = Buffer.from(`${name}:${secret}`).toString('base64');
});

const own: Call[] = [];
await callForEach(url, fixture.readers, (user) =>
  login(user, (token) => own.push(me(user, fixture.readerOrgs, token))),
);

/** Each request asks about others, all of which exist. */
function lookUp(path: 'users' | 'orgs', all: readonly { id: string }[], count: number): Operation {
  const expected = Math.min(count, all.length);
  return cycle(
    fixture.readers.map((_, index): Call => {
      const from = (index * IDS) % all.length;
      const ids = [...all.slice(from), ...all.slice(0, from)].slice(0, expected).map(({ id }) => id);
      const query = ids.map((id) => `id=${id}`).join('&');
      const head = `Host: localhost\r\nAuthorization: Basic ${authorization}`;
      return {
        request: `GET /api/directory/${path}?${query} HTTP/1.1\r\n${head}\r\n\r\n`,
        accept({ status, body }) {
          const found = status === 200 ? (JSON.parse(body.toString()) as Record<string, unknown[]>) : {};
          if (found[path]?.length !== expected) throw new WrongAnswer(`${status} ${body.toString()}`);
        },
      };
    }),
  );
}

const orgs = [...fixture.smallOrgs, ...fixture.changingOrgs];
const operations: Record<string, Operation> = {
  'GET /api/me': cycle(own),
  '100 users': lookUp('users', fixture.fillers, IDS),
  '1 user': lookUp('users', fixture.fillers, 1),
  '100 organizations': lookUp('orgs', orgs, IDS),
};
const rates = Object.fromEntries(Object.keys(operations).map((name) => [name, [] as number[]]));
for (let round = -WARM_UPS; round < ROUNDS; round += 1) {
  for (const [name, operation] of Object.entries(operations)) {
    const { requestsPerSecond } = await drive(url, operation, DURATION);
    if (round >= 0) rates[name]!.push(requestsPerSecond);
  }
}
const ofMe = rates['GET /api/me']!;
for (const [name, all] of Object.entries(rates)) {
  const ratio = median(all.map((rate, round) => rate / ofMe[round]!))!;
  console.log(
    `${options.engine}, ${name}: ${Math.round(median(all)!)} requests/s, ${ratio.toFixed(2)} of GET /api/me`,
  );
}
process.exit(0);
