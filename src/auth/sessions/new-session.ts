/** A session as tokens are made from it. Times are epoch milliseconds. */
export interface NewSession {
  id: string;
  userId: string;
  authTime: number;
  createdAt: number;
  expiresAt: number;
}
