import { Logger } from '@nestjs/common';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import {
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { setTimeout as sleep } from 'node:timers/promises';
import { rootCause } from '../logging/logger.js';
import { type Env, VERSION } from '../../config/env.js';
import { type SpanFactory, type TraceParent, useSpanFactory } from './spans.js';

export class ReportedExporter implements SpanExporter {
  private readonly logger = new Logger('Traces');
  private failing = false;

  constructor(private readonly exporter: SpanExporter) {}

  /** Omits the text of an error, because its endpoint may contain a password. */
  export(spans: ReadableSpan[], done: Parameters<SpanExporter['export']>[1]): void {
    this.exporter.export(spans, (result) => {
      const { error } = result;
      if (error && !this.failing)
        this.logger.warn({ msg: 'traces cannot be exported and are lost', cause: rootCause(error) });
      if (!error && this.failing) this.logger.log('traces are exported again');
      this.failing = error !== undefined;
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }
}

const EXPORT_PERIOD_MS = 1000;
const FLUSH_TIMEOUT_MS = 1000;
const MAX_ATTRIBUTE_LENGTH = 2048;
const TABLE = /\b(?:FROM|INTO|UPDATE)\s+[`"]?(\w+)/i;

/** The exporter reads `OTEL_EXPORTER_OTLP_…`. The returned function sends the remaining spans and never throws. */
export function startTracing(env: Env): () => Promise<void> {
  const exporter = new ReportedExporter(new OTLPTraceExporter());
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': env.serviceName, 'service.version': VERSION }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(env.tracesSampleRatio) }),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_LENGTH },
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: EXPORT_PERIOD_MS })],
  });
  useSpanFactory(new OpenTelemetrySpans(provider.getTracer('accounts', VERSION)));
  return async () => {
    const sent = provider.shutdown().catch(() => undefined);
    await Promise.race([sent, sleep(FLUSH_TIMEOUT_MS)]);
  };
}

/** Follows the semantic conventions for HTTP and databases, without attributes that contain paths or IP addresses. */
class OpenTelemetrySpans implements SpanFactory {
  constructor(private readonly tracer: Tracer) {}

  request(method: string, parent: TraceParent | undefined): Span {
    const options = { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } };
    return this.tracer.startSpan(method, options, contextOf(parent));
  }

  query(sql: string, parent: Span, others: readonly Span[]): Span {
    const links = others.map((other) => ({ context: other.spanContext() }));
    const options = { kind: SpanKind.CLIENT, attributes: { 'db.query.text': sql }, links };
    return this.tracer.startSpan(summary(sql), options, trace.setSpan(ROOT_CONTEXT, parent));
  }

  fail(span: Span, error: unknown): void {
    span.setAttribute('error.type', rootCause(error));
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }
}

function contextOf(parent: TraceParent | undefined): typeof ROOT_CONTEXT {
  if (!parent) return ROOT_CONTEXT;
  const { traceId, spanId, sampled } = parent;
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function summary(sql: string): string {
  const [verb = ''] = /\w+/.exec(sql) ?? [];
  const [, table] = TABLE.exec(sql) ?? [];
  return table === undefined ? verb : `${verb} ${table}`;
}
