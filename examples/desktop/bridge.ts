/** A problem of Accounts, of its client or of the engine room, as a page gets it: without `cause`. */
export interface ShownProblem {
  code: string;
  detail: string;
  retryAfter?: number | undefined;
  errors?: readonly { field: string; message: string }[];
}
export type Answer<Data = object> = ({ ok: true } & Data) | { ok: false; problem: ShownProblem };

/** What pages call in the main process beside the client of Accounts. */
export interface DesktopCalls {
  deviceName(): Promise<string>;
  /** Returns the code of the invitation whose link the user opened last, once. */
  takeInvitation(): Promise<string | undefined>;
  /** Opens the browser. A second call cancels the first one. */
  logInAtProvider(provider: string): Promise<Answer>;
  /** Continues the login at the provider with what it needs in addition. */
  proveLogin(proof: { password?: string; secondFactorCode?: string }): Promise<Answer>;
  cancelLogin(): Promise<void>;
  /** Hands the login to the engine room, and enters the room of an organization. */
  enterEngineRoom(orgId: string): Promise<Answer<{ email: string; role: string }>>;
}

/** What the preload script gives to pages as `desktop`. */
export interface Desktop extends DesktopCalls {
  /** Calls the listener when the user opens the link of an invitation. */
  onInvitation(listener: () => void): void;
}
