import { hashEngine } from '../baseline/passwords.ts';
import type { Contenders } from '../servers/contenders.ts';
import { loadedHashEngine } from '../servers/hash-engine.ts';

/** What hashes in the servers that run now, by what they have loaded; the same in all of them as a rule. */
export function usedHashEngine({ names, servers }: Contenders<string>): string {
  // Where the system does not tell, the servers found what this process finds.
  const engines = names.map((name) => loadedHashEngine(servers[name]!.pids()) ?? hashEngine);
  const [first] = engines;
  return engines.every((engine) => engine === first)
    ? first!
    : names.map((name, place) => `${name}: ${engines[place]}`).join(', ');
}
