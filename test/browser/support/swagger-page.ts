import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';

type Kind = 'Clients' | 'Services' | 'Operators';

interface Input {
  parameters?: Record<string, string>;
  /** of the body, which only operators fill in by fields */
  fields?: Record<string, string | true>;
}

interface Shown {
  status: number;
  body: Record<string, unknown>;
}

/** A folder for a picture of the screen after each answer: `SCREENSHOTS=/tmp/page npm run test:page`. */
const { SCREENSHOTS } = process.env;

/** Swagger UI as somebody uses it who only clicks and types. */
export class SwaggerPage {
  /** what the browser complained about, but for answers that are failures */
  readonly complaints: string[] = [];
  readonly requested: string[] = [];
  /** of each executed operation with its answer, without what stands below that */
  readonly heightsPx = new Map<string, number>();
  private screenshots = 0;

  private constructor(readonly page: Page) {
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) this.requested.push(request.url());
    });
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      const text = message.text();
      if (message.type() === 'error' && !text.startsWith('Failed to load resource'))
        this.complaints.push(text);
    });
  }

  static async open(page: Page, url: string): Promise<SwaggerPage> {
    const opened = new SwaggerPage(page);
    await page.goto(url);
    await page.locator('.opblock').first().waitFor();
    return opened;
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.page.locator('.opblock').first().waitFor();
  }

  async select(kind: Kind): Promise<void> {
    await this.page.getByLabel('Select a definition').selectOption({ label: kind });
    await this.page.locator('.info .link', { hasText: `/openapi/${kind.toLowerCase()}.json` }).waitFor();
    await this.page.locator('.opblock').first().waitFor();
  }

  async operations(): Promise<string[]> {
    const ids = await this.page.locator('.opblock').evaluateAll((blocks) => blocks.map(({ id }) => id));
    return ids.map((id) => id.split('-').at(-1)!);
  }

  async isAuthorized(): Promise<boolean> {
    return (await this.page.locator('.auth-wrapper .authorize.locked').count()) > 0;
  }

  async loginLine(): Promise<string> {
    return this.page.locator('.login').innerText();
  }

  tags(): Promise<string[]> {
    return this.page.locator('.opblock-tag > a').allInnerTexts();
  }

  async filter(text: string): Promise<void> {
    await this.page.locator('.operation-filter-input').fill(text);
  }

  nothingFound(): Promise<string> {
    return this.page.locator('.nothing-found').innerText();
  }

  /** The commands for curl of all answers. */
  async commands(): Promise<string> {
    return (await this.page.locator('.curl').allInnerTexts()).join('\n');
  }

  async valueOf(id: string, field: string): Promise<string> {
    return (await this.open(id)).locator(`input[name="${field}"]`).inputValue();
  }

  /** Every entry of sessionStorage, which `Chromium.stored` does not see. */
  sessionStored(): Promise<[string, string][]> {
    return this.page.evaluate(() => Object.entries({ ...globalThis.sessionStorage }) as [string, string][]);
  }

  operation(id: string): Locator {
    return this.page.locator(`.opblock[id$="-${id}"]`);
  }

  isOpen(id: string): Promise<boolean> {
    return this.operation(id).locator('.opblock-body').isVisible();
  }

  async open(id: string): Promise<Locator> {
    const operation = this.operation(id);
    if (!(await this.isOpen(id))) await operation.locator('.opblock-summary-control').click();
    await operation.locator('.execute').waitFor();
    return operation;
  }

  async close(id: string): Promise<void> {
    await this.operation(id).locator('.opblock-summary-control').click();
    await this.operation(id).locator('.opblock-body').waitFor({ state: 'hidden' });
  }

  /** The name of the field that has the focus. */
  focused(): Promise<string | undefined> {
    return this.page.evaluate(() => (globalThis as unknown as Focusing).document.activeElement?.name);
  }

  /** Opens the operation, types, presses Execute, and reads the answer off the page. */
  async execute(id: string, { parameters = {}, fields = {} }: Input = {}): Promise<Shown> {
    const operation = await this.open(id);
    for (const [name, value] of Object.entries(parameters)) await give(operation, name, value);
    for (const [name, value] of Object.entries(fields)) {
      const field = operation.locator(`input[name="${name}"]`);
      await (value === true ? field.check() : field.fill(value));
    }
    const clear = operation.locator('.btn-clear');
    if (await clear.isVisible()) await clear.click();
    await operation.locator('.execute').click();
    const answer = operation.locator('.live-responses-table tbody tr').first();
    const status = await answer.locator('.response-col_status').innerText();
    const text = await answer.locator('.highlight-code code').first().innerText();
    const [top, table] = [await operation.boundingBox(), await answer.boundingBox()];
    this.heightsPx.set(id, Math.max(this.heightsPx.get(id) ?? 0, table!.y + table!.height - top!.y));
    if (SCREENSHOTS !== undefined)
      await this.page.screenshot({ path: join(SCREENSHOTS, `${(this.screenshots += 1)}-${id}.png`) });
    return {
      status: Number.parseInt(status, 10),
      body: JSON.parse(text) as Record<string, unknown>,
    };
  }

  /** Presses Execute without typing anything. The page may ask for a parameter instead of sending the request. */
  async send(id: string): Promise<Shown | 'asks'> {
    const operation = await this.open(id);
    const invalid = operation.locator('.invalid');
    const answer = operation.locator('.live-responses-table tbody tr').first();
    const clear = operation.locator('.btn-clear');
    if (await clear.isVisible()) await clear.click();
    await operation.locator('.execute').click();
    await answer.or(invalid.first()).first().waitFor();
    if (await invalid.count()) return 'asks';
    const status = await answer.locator('.response-col_status').innerText();
    const text = await answer.locator('.highlight-code code').first().innerText();
    return { status: Number.parseInt(status, 10), body: JSON.parse(text) as Record<string, unknown> };
  }

  async isInView(locator: Locator): Promise<boolean> {
    const [bar, box] = [
      await this.page.locator('.scheme-container').boundingBox(),
      await locator.boundingBox(),
    ];
    const { height } = this.page.viewportSize()!;
    return (
      bar !== null && box !== null && box.y >= bar.y + bar.height && Math.floor(box.y + box.height) <= height
    );
  }

  /** Nothing of the answer is to be scrolled for in its box. */
  showsWholeAnswerOf(id: string): Promise<boolean> {
    const body = this.operation(id).locator('.live-responses-table .microlight').first();
    return body.evaluate(({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight);
  }

  async showsAnswerOf(id: string): Promise<boolean> {
    const parts = ['.opblock-summary', '.live-responses-table'].map((part) =>
      this.operation(id).locator(part),
    );
    return (await Promise.all(parts.map((part) => this.isInView(part)))).every(Boolean);
  }
}

interface Focusing {
  document: { activeElement: { name?: string } | null };
}

async function give(operation: Locator, name: string, value: string): Promise<void> {
  const row = operation.locator(`tr[data-param-name="${name}"]`);
  const list = row.locator('select');
  if ((await list.count()) > 0) await list.selectOption(value);
  else await row.locator('input').fill(value);
}
