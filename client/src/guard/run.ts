import type { Server } from 'node:http';
import { createGuard } from '../service/feed-guard.ts';
import type { Guard } from '../service/guard.ts';
import type { GuardOptions } from '../service/guard-options.ts';
import { Reasons } from '../service/reasons.ts';
import { closeSlowly, listen } from './listen.ts';
import { Log } from './log.ts';
import { Metrics } from './metrics.ts';
import type { Sidecar } from './routes.ts';
import { serverOf } from './server.ts';
import { type Settings, shownOf, VERSION } from './settings.ts';

export function guardOf(settings: Settings, more: Partial<GuardOptions>): Guard {
  const { issuer, url, audience, service, secret, maxStaleness, remember } = settings;
  return createGuard({
    issuer,
    audience,
    baseUrl: url,
    credentials: { name: service, secret },
    maxStaleness,
    limits: { tokens: remember, sessions: remember, memberships: remember },
    ...more,
  });
}

/**
 * Runs until the process receives SIGTERM or SIGINT.
 *
 * @throws WrongUsage if it cannot listen
 */
export async function run(settings: Settings): Promise<void> {
  const log = new Log();
  const metrics = new Metrics();
  const reasons = new Reasons(settings.service, settings.url);
  let isOut = false;
  const guard = guardOf(settings, {
    log,
    fetch: (input, init) => {
      // What makes the guard current is an answer of the feed, and the next request follows it.
      if (isOut && guard.isCurrent()) {
        isOut = false;
        log.info('the guard is current again');
      }
      return metrics.fetch(input, init);
    },
    onEvent: () => {
      metrics.events += 1;
    },
    onFeedProblem: (problem) => {
      sidecar.reason = reasons.of(problem);
      isOut ||= !guard.isCurrent();
    },
  });
  const sidecar: Sidecar = { guard, metrics, log, isStopping: false, reason: 'the event feed is silent' };
  const servers: Server[] = [];
  try {
    for (const address of settings.listen) {
      const server = serverOf(sidecar);
      await listen(server, address, settings.socketMode);
      // Such as for too many open files.
      server.on('error', (error) =>
        log.warnOnce('accept', `a connection was not accepted: ${error.message}`),
      );
      servers.push(server);
    }
  } catch (error) {
    // Removes the socket files.
    for (const server of servers) server.close();
    throw error;
  }
  log.info('listening', { version: VERSION, ...shownOf(settings) });
  await stopSignal(sidecar);
  log.info('stopping');
  await Promise.all(servers.map(closeSlowly));
  await guard.close();
  log.info('stopped');
}

/** The first signal stops the sidecar, the second one ends the process. */
function stopSignal(sidecar: Sidecar): Promise<void> {
  return new Promise((stop) => {
    const onSignal = (): void => {
      if (sidecar.isStopping) process.exit(1);
      sidecar.isStopping = true;
      stop();
    };
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  });
}
