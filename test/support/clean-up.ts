import type { DataSource } from 'typeorm';
import { ExpiredCodes } from '../../src/auth/cleanup/expired-codes.js';
import { ExpiredRowsService } from '../../src/auth/cleanup/expired-rows.service.js';
import { ExpiredSessions } from '../../src/auth/cleanup/expired-sessions.js';
import { AuthorizationCode } from '../../src/auth/codes/authorization-code.entity.js';
import { PendingRevocation } from '../../src/auth/sessions/pending-revocation.entity.js';
import { PendingRevocations } from '../../src/auth/sessions/pending-revocations.js';
import { SessionRevocation } from '../../src/auth/sessions/session-revocation.js';
import { Session } from '../../src/auth/sessions/session.entity.js';
import { Transactions } from '../../src/database/transactions.js';

/** The service's own clean-up, on a database that is open in this process. */
export function aCleanUp(dataSource: DataSource): ExpiredRowsService {
  const transactions = new Transactions(dataSource);
  return new ExpiredRowsService(
    new ExpiredCodes(dataSource.getRepository(AuthorizationCode), transactions),
    new ExpiredSessions(dataSource.getRepository(Session), transactions),
    aRevocation(dataSource),
  );
}

export function aRevocation(dataSource: DataSource): SessionRevocation {
  const transactions = new Transactions(dataSource);
  const pending = new PendingRevocations(dataSource.getRepository(PendingRevocation), transactions);
  return new SessionRevocation(dataSource.getRepository(Session), pending, transactions);
}
