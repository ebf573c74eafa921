import { answerCommands } from '../commands.ts';
import { type Admissions, openAdmissions } from './admissions.ts';
import type { Command, Cost } from './protocol.ts';
import { openRequests, type Requests } from './requests.ts';

/** Requests that are under way at once; the service renames one organization once at a time. */
const AT_ONCE = { me: 8, rename: 1 } as const;

let requests: Requests;
let admissions: Admissions;

answerCommands(execute, ({ type }: Command) => type);

async function execute(command: Command): Promise<Cost> {
  if (command.type === 'open') {
    requests = await openRequests(command.setup);
    admissions = await openAdmissions(command.setup);
    return cost(() => Promise.resolve());
  }
  if (command.type === 'admit') return cost(() => repeat(command.count, 1, admissions[command.admission]));
  const { sender, request, count } = command;
  return cost(() => repeat(count, AT_ONCE[request], requests[sender][request]));
}

async function repeat(count: number, atOnce: number, work: (place: number) => Promise<void>): Promise<void> {
  let next = 0;
  const line = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await work(next);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, line));
}

/** Collects the garbage of others before, so that nobody pays for it. */
async function cost(work: () => Promise<void>): Promise<Cost> {
  globalThis.gc!();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  globalThis.gc!();
  return { cpuMs: (user + system) / 1000, heapMib: process.memoryUsage().heapUsed / 2 ** 20 };
}
