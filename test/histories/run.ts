import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { Random } from '../faults/support/random.js';
import { times } from '../support/at-once.js';
import { asRecord, asRecords, asString, clientOf, type Send } from '../support/service-client.js';
import { aGuest, aLister, anOwner, type Step } from './clients/org-clients.js';
import { readOrg } from './clients/org-reads.js';
import { Recorder } from './clients/recorder.js';
import { CodeClient, EndingClient, RefreshClient } from './clients/session-clients.js';
import { aTeam, type Team } from './clients/team.js';
import { type FaultSeries, strikeUntil } from './faults.js';
import type { History, LoggedEvent } from './history.js';
import type { Stage } from './set-ups.js';

const TEAMS = 2;
const LISTERS = 2;
const LAST_READS = 4;
const PAGE = 1000;

export interface Run extends History {
  /** the name of each fault that struck */
  faults: string[];
}

/** Runs clients and faults for that many seconds. The seed decides what clients choose and which faults strike. */
export async function runOn({ services, faults }: Stage, seed: number, seconds: number): Promise<Run> {
  const instances = services.map(({ url }) => clientOf(url));
  const recorder = new Recorder(instances);
  let seeds = seed;
  const aRandom = (): Random => new Random((seeds += 1));
  const teams: Team[] = [];
  for (let place = 0; place < TEAMS; place += 1)
    teams.push(await aTeam(recorder, aRandom(), `team-${place}`));

  const steps: Step[] = [
    ...teams.flatMap((team) => [
      ...team.owners.map((owner) => anOwner(recorder, aRandom(), team, owner)),
      ...team.guests.map((guest) => aGuest(recorder, aRandom(), team, guest)),
      ...times(LISTERS, () => aLister(recorder, aRandom(), team)),
    ]),
    ...times(2, (place) => new RefreshClient(recorder, aRandom(), `refresh-${place}`).step),
    new CodeClient(recorder, aRandom(), 'code').step,
    ...times(2, (place) => new EndingClient(recorder, aRandom(), `end-${place}`).step),
  ];
  const over = new AbortController();
  const running = steps.map((step) => repeat(step, over.signal));
  let struck: string[];
  try {
    struck = await strikeFor(seconds, faults, aRandom);
  } finally {
    over.abort();
    await Promise.all(running);
  }

  for (const [place, send] of instances.entries())
    await waitFor(`instance ${place} is ready`, hangTimeoutMs(), async () => {
      return (await send('GET', '/health/ready')).status === 200;
    });
  for (const team of teams) {
    for (let count = 0; count < LAST_READS; count += 1) {
      for (const kind of ['detail', 'members', 'invitations', 'log'] as const)
        await readOrg(kind, recorder, aRandom(), team, team.owners[0]);
    }
  }
  const logs = new Map<string, LoggedEvent[]>();
  for (const team of teams) {
    const read = () => wholeLog(instances[0]!, team);
    logs.set(team.orgId, await waitFor('the audit log is read', hangTimeoutMs(), read));
  }
  return { operations: recorder.operations, logs, faults: struck };
}

async function strikeFor(seconds: number, faults: FaultSeries[], aRandom: () => Random): Promise<string[]> {
  const until = performance.now() + seconds * 1000;
  const striking = faults.map((series) => strikeUntil(until, series, aRandom()));
  const [, ...struck] = await Promise.all([sleep(seconds * 1000), ...striking]);
  return struck.flat();
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
