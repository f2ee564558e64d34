/** What was written in a field of a form. @returns empty where there is no such field, or it holds a file */
export function textIn(form: HTMLFormElement, name: string): string {
  const text = new FormData(form).get(name);
  return typeof text === 'string' ? text : '';
}
