/** What a person wrote into a field of a form; empty where there is no such field, or it takes a file. */
export function textIn(form: HTMLFormElement | FormData, name: string): string {
  const value = (form instanceof FormData ? form : new FormData(form)).get(name);
  return typeof value === 'string' ? value : '';
}
