'use strict';
const fs = require('fs');
const mysql = require('mysql');

const mode = process.argv[2];
if (mode === 'version') {
  console.log(require('mysql/package.json').version);
  process.exit();
}
const ca = fs.readFileSync(process.env.SEALION_CA);
const MODES = {
  default: {},
  unverified: { ssl: { rejectUnauthorized: false } },
  ca: { ssl: { ca } },
};
const connection = mysql.createConnection({
  host: process.env.SEALION_HOST,
  port: Number(process.env.SEALION_PORT),
  user: process.env.SEALION_USER,
  password: process.env.SEALION_PASSWORD,
  connectTimeout: 5000,
  ...MODES[mode],
});
connection.query('SELECT 1', (error) => {
  if (error) {
    console.error(error.message);
    process.exit(1);
  }
  connection.end(() => process.exit(0));
});
