// `npm test`.
import { suite } from './test/support/suites.ts';

export default suite('quick');
