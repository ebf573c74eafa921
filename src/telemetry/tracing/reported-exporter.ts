import { Logger } from '@nestjs/common';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { rootCause } from '../logging/describe-error.js';

type Done = Parameters<SpanExporter['export']>[1];

/** Logs once when traces get lost, and once when they no longer do. */
export class ReportedExporter implements SpanExporter {
  private readonly logger = new Logger('Traces');
  private failing = false;

  constructor(private readonly exporter: SpanExporter) {}

  export(spans: ReadableSpan[], done: Done): void {
    this.exporter.export(spans, (result) => {
      this.report(result.error);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  /** Logs no text of an error: it may hold the endpoint, and that a password. */
  private report(error: Error | undefined): void {
    if (error && !this.failing) {
      this.logger.warn({ msg: 'traces cannot be exported and are lost', cause: rootCause(error) });
    }
    if (!error && this.failing) this.logger.log('traces are exported again');
    this.failing = error !== undefined;
  }
}
