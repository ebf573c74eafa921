import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { hostAndPort, listenFailure } from '../config/listening-place.js';
import type { Env } from '../config/env.js';

export class ListenError extends Error {
  constructor(host: string, port: number, code: string | undefined) {
    super(`PORT, HOST: cannot listen on ${hostAndPort(host, port)} (${listenFailure(code)})`);
  }
}

/** @throws ListenError also for an unknown host, whose error looks like that of a database */
export async function listen(app: NestFastifyApplication, { port, host }: Env): Promise<void> {
  try {
    await app.listen(port, host);
  } catch (error) {
    throw new ListenError(host, port, (error as NodeJS.ErrnoException).code);
  }
}
