/** What was written into a field of a form; empty for a field that is not there, or takes a file. */
export function textIn(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}
