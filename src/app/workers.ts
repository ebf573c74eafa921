import type { INestApplicationContext } from '@nestjs/common';
import { FeedPoller } from '../events/feed-rounds.js';
import { MailWorker } from '../mail-delivery/mail-worker.js';

/** Starts what works beside the requests: no provider starts by itself, so that commands start none of it. */
export function startWorkers(app: INestApplicationContext): void {
  app.get(FeedPoller).start();
  app.get(MailWorker).start();
}
