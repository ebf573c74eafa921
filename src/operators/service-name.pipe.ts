import type { PipeTransform } from '@nestjs/common';
import { isServiceName } from '../services/service-name.js';

/** Replaces a name of another shape, which may not fit a column, by the empty text, which no service is called. */
export class ServiceNamePipe implements PipeTransform<string, string> {
  transform(name: string): string {
    return isServiceName(name) ? name : '';
  }
}
