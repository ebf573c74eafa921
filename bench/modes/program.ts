import { YOUNG_GENERATION } from '../../tooling/start-options.ts';
import type { Options } from '../options.ts';
import { environment } from '../servers/contenders.ts';
import { nodeOptionsFor } from '../servers/hash-engine.ts';
import type { Program } from '../servers/http-server.ts';

/** One of the programs that are measured, with a database of its own. */
export function programOf(
  { hashEngine, record }: Options,
  { script, databaseUrl }: { script: string; databaseUrl: string },
  directory: string,
  variables: Record<string, string> = {},
): Program {
  return {
    script,
    nodeOptions: [YOUNG_GENERATION, ...nodeOptionsFor(hashEngine)],
    env: {
      ...environment(databaseUrl, directory),
      BASELINE_RECORD: record ? 'on' : 'off',
      ...variables,
    },
    directory,
  };
}
