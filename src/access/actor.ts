/** Who acts: made at the edge, and handed down to whatever changes something. */
export interface Actor {
  kind: 'user';
  id: string;
  sessionId: string;
  requestId: string;
  /** of the client */
  address: string;
}
