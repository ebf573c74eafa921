import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Send } from '../support/service-client.js';
import { ENGINES, startOn } from './support/deployment.js';
import { report } from './support/figures.js';
import { brokenInState } from './support/invariants.js';
import { populate, RealService, serviceCommands } from './support/model-requests.js';
import { seedOfRun } from './support/random.js';
import { ReferenceModel } from './support/reference-model.js';

// A failure prints `seed`, `path` and, in its counterexample, `replayPath`. To replay it alone:
// SEED=… MODEL_PATH=… MODEL_REPLAY_PATH=… vitest run --config vitest.faults.config.ts model-sequential -t sqlite
const PATH = process.env['MODEL_PATH'];
const REPLAY_PATH = process.env['MODEL_REPLAY_PATH'];
/** Of random runs; a failure found within it is made smaller until then, and reported as it is. */
const TIME_LIMIT_MS = Number(process.env['MODEL_SECONDS'] ?? 30) * 1000;
const MAX_RUNS = 1000;
/** A busy machine makes few runs in a time, and may need more times to meet every kind of answer. */
const MAX_TIMES = 6;
const COMMANDS = 80;
const SUCCESSES = ['POST 201', 'POST 200', 'GET 200', 'PATCH 200', 'DELETE 200'];
const REFUSALS = [
  'GET 404 org_not_found',
  'PATCH 409 last_owner',
  'POST 409 last_owner',
  'POST 401 invalid_client',
  'POST 403 insufficient_scope',
  'POST 403 second_factor_required',
  'POST 400 invalid_code',
  'POST 400 invalid_second_factor_code',
  'POST 401 invalid_challenge',
  'POST 409 second_factor_enabled',
];

it.each(ENGINES)(
  'random requests of several users on %s get the answers of the model',
  { timeout: MAX_TIMES * (TIME_LIMIT_MS + 60_000) },
  async (engine) => {
    const seed = seedOfRun(`model on ${engine}`);
    const { storage, send } = await startOn(engine);
    const answers = new Map<string, number>();
    const counting: Send = async (method, path, options) => {
      const reply = await send(method, path, options);
      const kind = `${method} ${reply.status} ${reply.code ?? ''}`.trim();
      answers.set(kind, (answers.get(kind) ?? 0) + 1);
      return reply;
    };
    let runs = 0;
    let latest: Promise<void> | undefined;
    const property = fc.asyncProperty(serviceCommands(COMMANDS, REPLAY_PATH), async (commands) => {
      runs += 1;
      const run = `${seed}.${runs}`;
      latest = fc.asyncModelRun(async () => {
        const model = new ReferenceModel();
        const real = new RealService(counting, run, storage.installation.db);
        await populate(model, real);
        return { model, real };
      }, commands);
      await latest;
    });
    // Requests that are all refused would prove nothing; a replay is of one run, whatever that holds.
    const missing = (): string[] =>
      [...SUCCESSES, ...REFUSALS].filter((kind) => PATH === undefined && !answers.has(kind));
    for (let time = 0; time === 0 || (time < MAX_TIMES && missing().length > 0); time += 1) {
      await fc.assert(property, {
        seed: seed + time,
        numRuns: MAX_RUNS,
        interruptAfterTimeLimit: TIME_LIMIT_MS,
        ...(PATH !== undefined && { path: PATH }),
      });
      // At the time limit fast-check turns away from a run that continues, and would change what is looked at below.
      await latest;
    }

    const requests = [...answers.values()].reduce((sum, times) => sum + times, 0);
    console.info(engine, { runs, requests }, Object.fromEntries(answers));
    expect(brokenInState(await storage.snapshot())).toEqual([]);
    expect(missing()).toEqual([]);
    report({ faults: runs, requests, wrong: 0 });
  },
);
