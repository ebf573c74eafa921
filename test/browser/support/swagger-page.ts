import type { Locator, Page } from 'playwright-core';

type Kind = 'Clients' | 'Services' | 'Operators';

interface Input {
  parameters?: Record<string, string>;
  body?: (text: string) => string;
}

/** Swagger UI as somebody uses it who only clicks and types. */
export class SwaggerPage {
  /** what the browser complained about, but for answers that are failures */
  readonly complaints: string[] = [];
  readonly requested: string[] = [];

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

  async bodyOf(id: string): Promise<string> {
    return (await this.open(id)).locator('textarea').inputValue();
  }

  /** Opens the operation, types, presses Execute, and reads the answer off the page. */
  async execute(
    id: string,
    { parameters = {}, body }: Input = {},
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const operation = await this.open(id);
    for (const [name, value] of Object.entries(parameters)) await give(operation, name, value);
    const text = operation.locator('textarea');
    if (body) await text.fill(body(await text.inputValue()));
    const clear = operation.locator('.btn-clear');
    if (await clear.isVisible()) await clear.click();
    await operation.locator('.execute').click();
    const answer = operation.locator('.live-responses-table tbody tr').first();
    const status = await answer.locator('.response-col_status').innerText();
    return {
      status: Number.parseInt(status, 10),
      body: JSON.parse(await answer.locator('.highlight-code code').first().innerText()) as Record<
        string,
        unknown
      >,
    };
  }
}

async function give(operation: Locator, name: string, value: string): Promise<void> {
  const row = operation.locator(`tr[data-param-name="${name}"]`);
  const list = row.locator('select');
  if ((await list.count()) > 0) await list.selectOption(value);
  else await row.locator('input').fill(value);
}
