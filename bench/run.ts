import { removeAtExit } from '../tooling/processes/at-exit.ts';
import { besideBaseline } from './modes/beside-baseline.ts';
import { clientBesideFetch } from './modes/client.ts';
import { feed } from './modes/feed.ts';
import { growth } from './modes/growth.ts';
import { soak } from './modes/soak.ts';
import { workersBesideOne } from './modes/workers.ts';
import { type Options, readOptions } from './options.ts';
import { write, type Written } from './report/written.ts';
import { diskDirectory } from './servers/disk-directory.ts';
import { writeKeysFile } from './servers/keys-file.ts';
import { limitTime } from './time-limit.ts';
import { USAGE } from './usage.ts';

function makeTable(options: Options, directory: string): Promise<Written> {
  const { mode } = options;
  if (mode.table === 'growth') return growth(options, mode, directory);
  if (mode.table === 'feed') return feed(options, mode.sizes, directory);
  if (mode.table === 'client') return clientBesideFetch(options, directory);
  if (mode.table === 'soak') return soak(options, mode.requests, directory);
  if (mode.table === 'workers') return workersBesideOne(options, mode.workers, directory);
  return besideBaseline(options, mode.operations, directory);
}

async function main(options: Options): Promise<void> {
  const directory = removeAtExit(diskDirectory());
  writeKeysFile(directory);
  process.once('SIGINT', () => process.exit(130));

  limitTime(options.mode);
  const written = await makeTable(options, directory);
  const name = options.hashEngine === 'argon2' ? `${written.name}-argon2` : written.name;
  process.stdout.write(write(options.outDirectory, { ...written, name }));
}

try {
  if (process.argv.includes('--help')) process.stdout.write(`${USAGE}\n`);
  else await main(readOptions(process.argv.slice(2)));
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
