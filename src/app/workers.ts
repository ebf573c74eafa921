import type { INestApplicationContext } from '@nestjs/common';
import { KeyFileWatch } from '../auth/tokens/key-file-watch.js';
import { PasswordHasher } from '../auth/passwords/password-hasher.js';
import { CleanUp } from '../clean-up/clean-up.js';
import { FeedRounds } from '../events/feed-rounds.js';
import { MailWorker } from '../mail-delivery/mail-worker.js';
import { LiftedLimits } from '../rate-limits/lifted-limits.js';

/** Starts what works beside the requests: no provider starts by itself, so that commands start none of it. */
export async function startWorkers(app: INestApplicationContext): Promise<void> {
  await app.get(PasswordHasher).start();
  app.get(KeyFileWatch).start();
  app.get(LiftedLimits).start();
  app.get(FeedRounds).start();
  app.get(MailWorker).start();
  app.get(CleanUp).start();
}
