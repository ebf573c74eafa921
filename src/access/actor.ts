/** Who makes a change, from which client address. */
export interface Actor {
  kind: 'user';
  id: string;
  sessionId: string;
  requestId: string;
  address: string;
}
