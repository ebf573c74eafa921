export interface FeedSource {
  url: string;
  authorization: string;
}

export interface HeardEvent {
  id: string;
  orgId?: string;
}

interface FeedPage {
  events: HeardEvent[];
  next: string;
}

export const PAGE = 1000;
const WAIT_SECONDS = '15';

/** @throws Error for any answer but a page */
export async function readFeed(
  { url, authorization }: FeedSource,
  query: Record<string, string>,
  signal?: AbortSignal,
): Promise<FeedPage> {
  const parameters = new URLSearchParams(query).toString();
  const response = await fetch(`${url}/api/events?${parameters}`, { headers: { authorization }, signal });
  if (!response.ok) throw new Error(`the feed: status ${response.status}: ${await response.text()}`);
  return (await response.json()) as FeedPage;
}

/**
 * Tells what is recorded from now on: the promise resolves once nothing can be missed any more.
 *
 * @returns ends when the signal does, or with the error of a page
 */
export async function followFeed(
  source: FeedSource,
  hear: (events: HeardEvent[]) => void,
  stop: AbortSignal,
): Promise<{ ended: Promise<void> }> {
  const { next } = await readFeed(source, {});
  return { ended: follow(source, next, hear, stop) };
}

async function follow(
  source: FeedSource,
  cursor: string,
  hear: (events: HeardEvent[]) => void,
  stop: AbortSignal,
): Promise<void> {
  try {
    for (let after = cursor; !stop.aborted;) {
      const { events, next } = await readFeed(source, { after, wait: WAIT_SECONDS, limit: `${PAGE}` }, stop);
      hear(events);
      after = next;
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}
