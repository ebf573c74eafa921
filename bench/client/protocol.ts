/** The same requests, sent by the client or by `fetch` alone. */
export const SENDERS = ['fetch', 'client'] as const;
export type Sender = (typeof SENDERS)[number];

export const REQUESTS = ['me', 'rename'] as const;
export type RequestName = (typeof REQUESTS)[number];

export const ADMISSIONS = ['token', 'token and role'] as const;
export type AdmissionName = (typeof ADMISSIONS)[number];

export interface Setup {
  url: string;
  issuer: string;
  /** owner of the organization */
  user: { email: string; password: string };
  orgId: string;
  /** of a service that may use the guard */
  credentials: { name: string; secret: string };
}

/** The benchmark sends these to the process that uses the client, one at a time. */
export type Command =
  | { type: 'open'; setup: Setup }
  | { type: 'send'; sender: Sender; request: RequestName; count: number }
  | { type: 'admit'; admission: AdmissionName; count: number };

/** The process used this, with all its threads. */
export interface Cost {
  cpuMs: number;
  /** what is alive after it */
  heapMib: number;
}
