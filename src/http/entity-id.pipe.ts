import type { PipeTransform } from '@nestjs/common';
import { isEntityId } from '../identifiers/entity-id.js';

/** An id of another shape may not fit a column: the empty text, which no row has, stands for it. */
export class EntityIdPipe implements PipeTransform<string, string> {
  transform(id: string): string {
    return isEntityId(id) ? id : '';
  }
}
