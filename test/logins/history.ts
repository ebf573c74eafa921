import { type Accounts, type Answer, openSession, type Rules } from './accounts.ts';
import { Ledger } from './ledger.ts';
import { type Computer, generationOf, Process } from './people.ts';
import { World } from './world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export type History = Pick<World, 'counts' | 'lines'> & Pick<Ledger, 'violation'>;

/** Runs the history of one session. The first step says who takes part. Each other step is an action and a time. */
export async function runHistory([first = [], ...steps]: number[][], rules: Rules): Promise<History> {
  const world = new World();
  world.draw(first);
  const hasThief = world.below(2) === 1;
  const hasBackups = world.below(8) === 7;
  const grace = world.of([30_000, 1_000, 20_000, 10 * MINUTE, ...(hasThief ? [0] : [])]);
  const idle = world.of([14 * DAY, DAY, HOUR]);
  const ledger = new Ledger(world, grace, idle);
  // Without a grace, a lost answer logs out.
  ledger.isDisturbed = grace === 0;
  const scene = { world, ledger, rules };
  const accounts = openSession(scene);
  const nothing = { file: undefined, disk: undefined, lock: undefined };
  const computer: Computer = { ...scene, accounts, ...nothing, lossPercent: world.of([0, 5, 20, 60]) };
  world.timersCountSleep = world.below(2) === 1;
  const processes = ['A', 'B', 'C'].slice(world.below(3)).map((name) => new Process(name, computer));
  const backups: { file: string | undefined; row: Accounts['row']; promised: Ledger['promised'] }[] = [];
  const copies: string[] = [];
  let stolenAccess: string | undefined;

  const inProcess = (act: (process: Process) => Promise<unknown>): void => {
    const index = world.below(processes.length);
    // A process that has died starts again.
    if (!processes[index]!.isAlive) processes[index] = new Process(processes[index]!.name, computer);
    const process = processes[index]!;
    world.after(world.below(6), 'arrival', () => act(process), process);
  };
  const call = (): void => inProcess((process) => process.call());
  const refresh = (): void => inProcess((process) => process.refresh());
  const closeLid = (): void => {
    const ms = world.of([1_000, MINUTE, 10 * MINUTE, 10 * HOUR]) * (1 + world.below(20) / 10);
    if (world.now >= world.wakesAt) world.sleep(ms);
  };
  const closeLidSoon = (): unknown => world.after(world.below(30), 'world', closeLid);
  const setClocks = (): void => {
    const ms = world.of([1, -1]) * world.of([1_000, MINUTE, HOUR]) * (1 + world.below(20) / 10);
    const [computerMs, databaseMs] = world.of([
      [ms, 0],
      [0, ms],
    ] as const);
    world.wallAhead += computerMs;
    ledger.clockAhead += databaseMs;
    world.say('clock set', `computer by ${computerMs / 1000} s, database by ${databaseMs / 1000} s`);
  };
  const cutPower = (): void => {
    world.say('power cut');
    processes.forEach((process) => process.kill());
    computer.file = computer.disk;
  };
  const changeNetwork = (): void => {
    computer.lossPercent = world.of([0, 5, 60, 100]);
    world.say('network', `loses ${computer.lossPercent} %`);
  };
  const steal = (): void => {
    if (copies.length === 0) {
      if (computer.file === undefined) return;
      copies.push(computer.file);
      ledger.copied = generationOf(computer.file);
      return world.say('thief copies', `${ledger.copied}`);
    }
    const shown = generationOf(world.of([copies.at(-1)!, copies.at(-1)!, ...copies]));
    const answer = (given: Answer): void => {
      if (!given.ok) return;
      copies.push(String(given.data['refreshToken']));
      stolenAccess = String(given.data['token']);
    };
    ledger.isDisturbed = true;
    world.say('thief shows', `${shown}`);
    const connection = { by: 'thief', isClosed: false, answer } as const;
    world.after(world.latency(), 'world', () => accounts.refresh(shown, connection));
  };
  const useStolen = (): void => {
    if (stolenAccess !== undefined)
      accounts.use(stolenAccess, { by: 'thief', isClosed: false, answer: () => undefined });
  };
  const restoreFile = (): void => {
    computer.file = computer.disk = world.of(backups).file;
    world.say('file restored', computer.file);
    ledger.isDisturbed = true;
  };
  const restoreDatabase = (): void => {
    const { row, promised } = world.of(backups);
    world.say('database restored', `${row.refreshGeneration}`);
    accounts.row = row;
    ledger.restore(promised);
  };
  const atOnce = (acts: (() => void)[]) => (): void => acts.forEach((act) => act());
  const actions: (() => void)[] = [() => undefined, call, call, call, refresh, refresh, closeLid];
  actions.push(atOnce([call, call, refresh]), atOnce([refresh, closeLidSoon]));
  actions.push(() => world.of(processes).kill(), cutPower, changeNetwork, setClocks, setClocks);
  if (hasThief) actions.push(steal, steal, steal, useStolen, useStolen, atOnce([refresh, steal]));
  if (hasBackups) actions.push(restoreFile, restoreDatabase);

  inProcess((process) => process.login.begin(accounts.tokens(1).data));
  world.say('login', `REFRESH_GRACE=${grace / 1000}s SESSION_IDLE=${idle / HOUR}h`);
  await world.run(10_000);
  for (const step of steps) {
    if (world.isOver) break;
    world.draw(step);
    backups.push({ file: computer.file, row: accounts.row, promised: ledger.promised });
    world.of(actions)();
    const most = world.of([30, 300, 3_000, 20_000, 2 * grace, 2 * MINUTE, 20 * MINUTE, 10 * HOUR, idle]);
    await world.run((most * world.below(100)) / 100);
  }
  return { violation: ledger.violation, counts: world.counts, lines: world.lines };
}
