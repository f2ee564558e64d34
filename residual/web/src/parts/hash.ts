/** One part of `#/page/part` as it was before it was encoded; whatever nobody has encoded is taken as it stands. */
export function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return part;
  }
}
