import type { PipeTransform } from '@nestjs/common';
import { isEntityId } from '../identifiers/entity-id.js';

/** An id of another shape names nobody, and may not even fit a column: it becomes the empty text, which no row has. */
export class EntityIdPipe implements PipeTransform<string, string> {
  transform(id: string): string {
    return isEntityId(id) ? id : '';
  }
}
