import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { loadDuring } from '../support/load.js';
import { compare, compareRows, emptyLedgers, type Ledgers, Writer } from './support/writer.js';
import { report } from './support/figures.js';
import { Random, seedOfRun } from './support/random.js';
import { ENGINES, startOn, UNLIMITED } from './support/deployment.js';

const KILLS = 12;
const WRITERS = 8;

describe.each(ENGINES)('kill -9 during writes on %s', (engine) => {
  // SEED repeats the requests and the times of the kills, but not the progress of each request by then.
  it('loses no acknowledged write, leaves nothing half done and restarts', { timeout: 180_000 }, async () => {
    const seed = seedOfRun(`kill -9 on ${engine}`);
    const random = new Random(seed);
    const { storage, service, send } = await startOn(engine, { ...UNLIMITED, CODE_TTL: '10m' });

    const rounds: Ledgers[] = [];
    let requests = 0;
    let acknowledged = 0;
    let unknown = 0;
    const recoveriesMs: number[] = [];
    const statuses = new Map<string, number>();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const ledgers = emptyLedgers();
      rounds.push(ledgers);
      const writers = times(WRITERS, (index) => {
        const own = new Random(seed + kill * WRITERS + index);
        return new Writer(send, `${seed}.${kill}.${index}`, own, ledgers);
      });
      await Promise.all(writers.map((writer) => writer.prepare()));

      let dead = false;
      const history = await loadDuring(
        WRITERS,
        async (worker, _turn, signal) => {
          if (!dead) return writers[worker]!.step();
          // Refused connections tell nothing: what counts is what the dying process was asked.
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          return { outcome: 'refused', label: 'not sent' };
        },
        async () => {
          await sleep(random.between(50, 700));
          dead = true;
          await service.kill();
        },
      );

      const killedAt = performance.now();
      await service.start();
      recoveriesMs.push(performance.now() - killedAt);
      for (const [label, count] of history.tally()) statuses.set(label, (statuses.get(label) ?? 0) + count);
      requests += history.entries.filter(({ label }) => label !== 'not sent').length;

      const findings = await compare(storage, send, ledgers);
      expect(findings.lost, `kill ${kill}`).toEqual([]);
      expect(findings.broken, `kill ${kill}`).toEqual([]);
      acknowledged += findings.acknowledged;
      unknown += findings.unknownApplied + findings.unknownAbsent;
    }

    // Later crashes must not undo what an earlier one left intact.
    const atLast = await compareRows(storage, rounds);
    expect([...atLast.lost, ...atLast.broken]).toEqual([]);
    const unexpected = [...statuses.keys()].filter((label) => / (5\d\d|401|403|415)/.test(label));
    console.info(engine, Object.fromEntries(statuses), { acknowledged, unknown });
    expect(unexpected, 'answers before the kill').toEqual([]);
    expect(acknowledged).toBeGreaterThan(KILLS * WRITERS);
    report({ faults: KILLS, requests, wrong: 0, acknowledged, lost: 0, recoveriesMs });
  });
});
