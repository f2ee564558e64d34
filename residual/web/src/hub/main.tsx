import { render } from 'preact';
import { Hub } from './hub.tsx';
import '../styles/page.css';

const root = document.getElementById('app');
if (root === null) throw new Error('hub.html has no #app');
root.replaceChildren();
render(<Hub />, root);
