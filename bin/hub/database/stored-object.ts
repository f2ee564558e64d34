import { type JsonObject, parseJson, recordOf } from '../../../shared/member.ts';

/** An object that the database has as text; empty for what an earlier version has stored and nobody can walk through. */
export function storedObject(text: string): JsonObject {
  try {
    return recordOf(parseJson(text));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
