import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { Random } from '../faults/support/random.js';
import { times } from '../support/at-once.js';
import { asRecord, asRecords, asString, clientOf, type Send } from '../support/service-client.js';
import { Client } from './clients/client.js';
import { aGuest, aLister, anOwner, aTeam, readOrg, type Step, type Team } from './clients/org-clients.js';
import { Delegation } from './clients/delegation.js';
import { endKeyWhileHandedOn } from './clients/api-key-clients.js';
import {
  endCallWhileHandedOn,
  endLoginsAtOnce,
  endSessionWhileHandedOn,
  exchangeWhileRevoked,
} from './clients/delegation-clients.js';
import { endWhileUsed, exchangeAtOnce, inRounds, refreshAtOnce } from './clients/session-clients.js';
import { strikeUntil } from './faults.js';
import type { History, LoggedEvent, Operation, Span } from './history.js';
import type { Stage } from './set-ups.js';

const TEAMS = 2;
const LISTERS = 2;
const LAST_READS = 4;
const PAGE = 1000;
const BEAT_MS = 20;
const STALL_MS = 50;

/** Runs clients and faults for that many seconds. The seed decides what clients choose and which faults strike. */
export async function runOn(stage: Stage, seed: number, seconds: number): Promise<History> {
  const { services, faults } = stage;
  const instances = services.map(({ url }) => clientOf(url));
  const operations: Operation[] = [];
  let seeds = seed;
  const aRandom = (): Random => new Random((seeds += 1));
  const aClient = (): Client => new Client(instances, operations, aRandom());
  const teams: Team[] = [];
  for (let place = 0; place < TEAMS; place += 1) teams.push(await aTeam(aClient(), `team-${place}`));

  const delegation = await Delegation.start(aClient(), stage);

  const steps: Step[] = [
    ...teams.flatMap((team) => [
      ...team.owners.map((owner) => anOwner(aClient(), team, owner)),
      ...team.guests.map((guest) => aGuest(aClient(), team, guest)),
      ...times(LISTERS, () => aLister(aClient(), team)),
    ]),
    ...times(2, (place) => inRounds(aClient(), `refresh-${place}`, refreshAtOnce)),
    inRounds(aClient(), 'code', exchangeAtOnce),
    ...times(2, (place) => inRounds(aClient(), `end-${place}`, endWhileUsed)),
    inRounds(aClient(), 'handed-on', endSessionWhileHandedOn(delegation)),
    inRounds(aClient(), 'logins', endLoginsAtOnce(delegation)),
    inRounds(aClient(), 'call', endCallWhileHandedOn(delegation)),
    inRounds(aClient(), 'api-key', endKeyWhileHandedOn(delegation)),
    inRounds(aClient(), 'exchange', exchangeWhileRevoked(delegation)),
  ];
  const over = new AbortController();
  const stalls: Span[] = [];
  const watching = watchFor(stalls, over.signal);
  const running = steps.map((step) => repeat(step, over.signal));
  const until = performance.now() + seconds * 1000;
  let struck: string[];
  try {
    const striking = faults.map((series) => strikeUntil(until, series, aRandom()));
    struck = (await Promise.all(striking)).flat();
    await sleep(Math.max(0, until - performance.now()));
  } finally {
    over.abort();
    await Promise.all([watching, ...running]);
  }

  for (const [place, send] of instances.entries())
    await waitFor(`instance ${place} is ready`, hangTimeoutMs(), async () => {
      return (await send('GET', '/health/ready')).status === 200;
    });
  for (const team of teams) {
    for (let count = 0; count < LAST_READS; count += 1) {
      for (const kind of ['detail', 'members', 'invitations', 'log'] as const)
        await readOrg(kind, aClient(), team, team.owners[0]);
    }
  }
  const logs = new Map<string, LoggedEvent[]>();
  for (const team of teams) {
    const read = () => wholeLog(instances[0]!, team);
    logs.set(team.orgId, await waitFor('the audit log is read', hangTimeoutMs(), read));
  }
  return { operations, logs, polls: delegation.polls, stalls, faults: struck };
}

/** Notes when this process did not get the processor that it was ready for. */
async function watchFor(stalls: Span[], over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const startedAt = performance.now() + BEAT_MS;
    await sleep(BEAT_MS);
    const endedAt = performance.now();
    if (endedAt - startedAt > STALL_MS) stalls.push({ startedAt, endedAt });
  }
}

async function repeat(step: Step, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await step();
    // A step that sends nothing must not keep the event loop to itself.
    await turn();
  }
}

async function wholeLog(send: Send, { orgId, owners }: Team): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  let cursor = '';
  do {
    const path = `/api/orgs/${orgId}/events?limit=${PAGE}${cursor}`;
    const { status, body } = await send('GET', path, { token: owners[0].token });
    if (status !== 200) throw new Error(`the audit log was answered with ${status}`);
    events.push(...asRecords(body['events']).map(loggedEvent));
    cursor = typeof body['nextCursor'] === 'string' ? `&cursor=${body['nextCursor']}` : '';
  } while (cursor !== '');
  return events;
}

function loggedEvent(event: Record<string, unknown>): LoggedEvent {
  const textOrNull = (value: unknown): string | null => (value === null ? null : asString(value));
  return {
    id: asString(event['id']),
    type: asString(event['type']),
    revision: Number(event['orgRevision']),
    actorId: textOrNull(asRecord(event['actor'])['id']),
    userId: textOrNull(event['userId']),
    data: asRecord(event['data']),
  };
}
