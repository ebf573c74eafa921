import type { Credentials, Guard } from 'accounts-client/service';
import { openService, type Route, type RunningService } from './service.ts';

/** A second internal service, which other services call: for a user, and for themselves. */
export function openLedger(accounts: string, credentials: Credentials): Promise<RunningService> {
  return openService(accounts, credentials, ledger);
}

function ledger(guard: Guard): Route {
  return async ({ headers: { authorization } }, [action, orgId = '']) => {
    if (action === 'close') {
      const caller = await guard.authorizeService(authorization, { from: ['engine-room'] });
      return caller.ok ? { by: caller.service.name } : caller;
    }
    const visit = await guard.authorize(authorization, { orgId, via: ['engine-room'] });
    return visit.ok ? { for: visit.user.email, via: visit.via } : visit;
  };
}
