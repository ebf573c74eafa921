import type { Role } from './reference-model.js';

/** One row of the audit log. */
export interface RecordedEvent {
  type: string;
  orgId: string;
  orgRevision: number;
  userId: string;
  sessionId: string;
  data: string;
  /** of whom, and when */
  request: string;
}

/** The whole state of the service, read from its database when nothing is under way. */
export interface Snapshot {
  users: { id: string; email: string; disabledAt: number | null }[];
  orgs: { id: string; deletedAt: number | null; purgeBeganAt: number | null }[];
  members: { orgId: string; userId: string; role: Role }[];
  sessions: {
    id: string;
    userId: string;
    loginId: string | null;
    branchId: string | null;
    codeHash: string | null;
  }[];
  events: RecordedEvent[];
}
