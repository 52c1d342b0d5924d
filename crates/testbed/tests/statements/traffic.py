"""What honest programs send: an ORM, a content management system, a tool for migrations, reports, and values that look like SQL.

usage: traffic.py SOCKET DIR PORT

PORT is that of the shop, which is visited too; with a DIR named `visitors`, nothing else is sent. Nothing here is an injection: a review that tells of one is wrong. Each part logs in as an account of its own. Sessions stay until the
input ends, so that the server can still say whose they were.
"""
import pathlib
import sys
import textwrap
import urllib.request

import alembic.command
import alembic.config
import pymysql
import sqlalchemy as sa
from sqlalchemy import orm

SOCKET, DIR, PORT = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
# Each is a value, and says nothing to a server.
NASTY = [
    "or 1=1 literally", "' OR '1'='1", "x'; DROP TABLE product; -- ", "--dash", "a;b", "#hash", "/**/", "/*!50000UNION*/", "O'Brien",
    "it''s", 'say "hello"', "back\\slash", "ends with \\", "100%", "under_score", "information_schema fan", "SLEEP(5)", "union select null",
    "0x7e", "CHAR(65,66)", "CONCAT(0x71,version())", "LOAD_FILE('/etc/passwd')", "\u2019 typographic", "line\nbreak", "tab\there", "`name`",
    "1 AND ASCII(SUBSTRING((SELECT 1),1,1))>64", "NULL", "",
]


def url(user):
    return f"mysql+pymysql://{user}:shop@/shop?unix_socket={SOCKET}&charset=utf8mb4"


Base = orm.declarative_base()
tags = sa.Table(
    "orm_product_tag", Base.metadata,
    sa.Column("product_id", sa.ForeignKey("orm_product.id"), primary_key=True),
    sa.Column("tag_id", sa.ForeignKey("orm_tag.id"), primary_key=True),
)


class Tag(Base):
    __tablename__ = "orm_tag"
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.String(60), unique=True, nullable=False)


class Supplier(Base):
    __tablename__ = "orm_supplier"
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.String(120), nullable=False)
    city = sa.Column(sa.String(60))
    products = orm.relationship("Product", back_populates="supplier", cascade="all, delete-orphan")


class Product(Base):
    __tablename__ = "orm_product"
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.String(120), nullable=False)
    price = sa.Column(sa.Numeric(10, 2), default=0)
    is_live = sa.Column(sa.Boolean, default=True)
    note = sa.Column(sa.Text)
    uuid = sa.Column(sa.LargeBinary(16))
    supplier_id = sa.Column(sa.ForeignKey("orm_supplier.id"))
    supplier = orm.relationship("Supplier", back_populates="products")
    tags = orm.relationship("Tag", secondary=tags)


def search(session, **filters):
    """A form in which everything may be left out."""
    query = sa.select(Product).where(sa.text("1=1"))
    if (name := filters.get("name")) is not None:
        query = query.where(Product.name.like(f"%{name}%"))
    if (least := filters.get("least")) is not None:
        query = query.where(Product.price >= least)
    if filters.get("live"):
        query = query.where(Product.is_live.is_(True))
    if (any_of := filters.get("any_of")) is not None:
        query = query.where(sa.or_(Product.name == any_of, Product.note == any_of, Product.id.is_(None)))
    if (city := filters.get("city")) is not None:
        query = query.join(Supplier).where(sa.func.lower(Supplier.city) == city.lower())
    if filters.get("order"):
        query = query.order_by(sa.desc(filters["order"]))
    return session.scalars(query.limit(20).offset(filters.get("page", 0) * 20)).all()


def of_orm():
    engine = sa.create_engine(url("app_orm"), future=True)
    Base.metadata.create_all(engine)
    inspector = sa.inspect(engine)
    for table in inspector.get_table_names():
        inspector.get_columns(table), inspector.get_indexes(table), inspector.get_foreign_keys(table)
        inspector.get_pk_constraint(table), inspector.get_unique_constraints(table), inspector.get_table_comment(table)
    inspector.get_view_names()
    sa.MetaData().reflect(engine)
    with orm.Session(engine, future=True) as session:
        session.add_all([Tag(name=f"tag {n}") for n in range(8)])
        session.flush()
        all_tags = session.scalars(sa.select(Tag)).all()
        for number in range(6):
            supplier = Supplier(name=f"Supplier {number}", city=["Bern", "Köln", None][number % 3])
            for at, text in enumerate(NASTY):
                supplier.products.append(Product(
                    name=text[:100] or "empty", note=text, price=at, uuid=bytes([number, at] * 8), tags=all_tags[at % 5:at % 5 + 2],
                ))
            session.add(supplier)
        session.commit()
        for text in NASTY:
            for filters in (
                {"name": text}, {"any_of": text}, {"name": text, "least": 3}, {"name": text, "live": True, "order": "price"},
                {"city": text or "x", "page": 1}, {"name": text, "any_of": text, "least": 1, "live": True, "order": "name", "page": 2},
            ):
                search(session, **filters)
        for page in range(12):
            search(session, page=page, order="price")
        for query in (
            sa.select(Supplier).options(orm.selectinload(Supplier.products).joinedload(Product.tags)),
            sa.select(Product).join(Product.tags).where(Tag.name.in_(["tag 1", "tag 2"])).distinct(),
            sa.select(Product.supplier_id, sa.func.count(), sa.func.avg(Product.price)).group_by(Product.supplier_id)
            .having(sa.func.count() > 1),
            sa.select(Product).where(sa.exists().where(Supplier.id == Product.supplier_id, Supplier.city == "Bern")),
            sa.select(Product.name).where(Product.price.between(1, 5)).union(sa.select(Supplier.name).where(Supplier.city == "Bern")),
            sa.select(Product.id, sa.case((Product.price > 10, "dear"), else_="cheap").label("class")),
            sa.select(sa.func.substr(Product.name, 1, 1).label("letter"), sa.func.count()).group_by("letter"),
            sa.select(Product).where(~Product.is_live | (Product.note.is_(None))),
            sa.select(Product).where(Product.uuid == bytes(range(16))),
            sa.select(sa.func.max(Product.price)).scalar_subquery(),
        ):
            session.execute(sa.select(query) if isinstance(query, sa.sql.selectable.ScalarSelect) else query).all()
        cheap = sa.select(Product.id).where(Product.price < 2).cte("cheap")
        session.execute(sa.select(Product).join(cheap, cheap.c.id == Product.id)).all()
        session.execute(sa.update(Product).where(Product.name == NASTY[1]).values(note=NASTY[2]))
        session.execute(sa.delete(Product).where(Product.note == NASTY[3], Product.price > 1000))
        with session.begin_nested():
            session.add(Tag(name="in a savepoint"))
        session.commit()
        try:
            with session.begin_nested():
                session.add(Tag(name="tag 1"))
        except sa.exc.IntegrityError:
            pass
        session.commit()
    return engine


# Shaped as WordPress sends them.
WORDPRESS = [
    "SET SESSION sql_mode=''",
    "SELECT option_name, option_value FROM wp_options WHERE autoload = 'yes'",
    "SELECT option_value FROM wp_options WHERE option_name = '{text}' LIMIT 1",
    "SELECT SQL_CALC_FOUND_ROWS  wp_posts.ID FROM wp_posts  WHERE 1=1  AND ((wp_posts.post_type = 'post' AND (wp_posts.post_status = 'publish' "
    "OR wp_posts.post_status = 'private')))  ORDER BY wp_posts.post_date DESC LIMIT 0, 10",
    "SELECT FOUND_ROWS()",
    "SELECT wp_posts.* FROM wp_posts WHERE ID IN (1,2,3)",
    "SELECT post_id, meta_key, meta_value FROM wp_postmeta WHERE post_id IN (1,2,3) ORDER BY meta_id ASC",
    "SELECT   wp_posts.ID FROM wp_posts  WHERE 1=1  AND (((wp_posts.post_title LIKE '%{text}%') OR (wp_posts.post_content LIKE '%{text}%')))  "
    "AND (wp_posts.post_password = '')  AND wp_posts.post_type IN ('post', 'page')  ORDER BY wp_posts.post_title LIKE '%{text}%' DESC LIMIT 0, 10",
    "SELECT * FROM wp_users WHERE user_login = '{text}' LIMIT 1",
    "SELECT COUNT(*) FROM wp_posts WHERE post_status IN ('publish') AND (post_author = 1 OR 0 = post_parent)",
    "INSERT INTO `wp_options` (`option_name`, `option_value`, `autoload`) VALUES ('_transient_x', '{text}', 'no') "
    "ON DUPLICATE KEY UPDATE `option_name` = VALUES(`option_name`), `option_value` = VALUES(`option_value`)",
    "UPDATE `wp_posts` SET `post_content` = '{text}' WHERE `ID` = 1",
    "DELETE a, b FROM wp_options a, wp_options b WHERE a.option_name LIKE '\\\\_transient\\\\_%' AND a.option_name NOT LIKE '\\\\_transient\\\\_timeout\\\\_%' "
    "AND b.option_name = CONCAT( '_transient_timeout_', SUBSTRING( a.option_name, 12 ) ) AND b.option_value < 1",
    "SHOW FULL COLUMNS FROM `wp_posts`",
    "SHOW TABLES LIKE 'wp\\\\_%'",
    "DESCRIBE wp_posts",
]
# Reports, health checks, comments of frameworks, and what people type.
OTHERS = [
    "SELECT 1", "SELECT SLEEP(0)", "DO SLEEP(0)", "SELECT VERSION(), DATABASE(), USER()", "SELECT @@version_comment LIMIT 1",
    "SELECT table_name, table_rows FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 2 DESC",
    "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'product'",
    "SELECT name, price FROM product WHERE price > 1 UNION ALL SELECT 'total', SUM(price) FROM product",
    "SELECT 'product' AS kind, name FROM product WHERE live = 1 UNION ALL SELECT 'member' AS kind, name FROM member WHERE id > 1",
    "SELECT 'product', name FROM product WHERE live = 1 UNION ALL SELECT 'member', name FROM member WHERE id > 1",
    "SELECT name, price FROM product UNION ALL SELECT NULL, SUM(price) FROM product",
    "SELECT UPPER(SUBSTRING(name, 1, 1)) AS letter, COUNT(*) FROM product GROUP BY 1 ORDER BY 1",
    "SELECT GROUP_CONCAT(name SEPARATOR ', ') FROM product", "SELECT CONCAT(name, CHAR(13, 10), price) FROM product",
    "SELECT EXTRACTVALUE('<a><b>x</b></a>', '/a/b')", "SELECT FLOOR(RAND() * 100)", "SELECT * FROM product ORDER BY RAND() LIMIT 1",
    "SELECT id FROM product WHERE HEX(name) = '41' OR name = 0x00112233445566778899aabbccddeeff",
    "SELECT /* shop:list */ id FROM product /*route='%2Flist',controller='shop'*/",
    "SELECT id -- the id\nFROM product -- all that we don't sell any more\nWHERE live = 0",
    "# nightly\nSELECT COUNT(*) FROM product", "SELECT id, /* price */ price FROM product WHERE live = 1 -- live ones only",
    "SELECT 1 AS one FROM product WHERE product.name = 'x' AND product.id != 3 LIMIT 1",
    "select p1_0.id,p1_0.name from product p1_0 where p1_0.name like '%a%' escape '!' and (p1_0.price is null or p1_0.price>=1) order by p1_0.name limit 0,20",
    "SELECT IF(price > 1, 'dear', 'cheap'), CASE WHEN live THEN 1 ELSE 0 END FROM product",
    "SELECT name FROM product WHERE (live = 1 OR live IS NULL) AND NOT (price < 0 OR price > 1000)",
    "SELECT id FROM product WHERE 1=1 AND (0 = 0 OR price = 0) AND (15 = 0 OR price = 15) AND ('' = '' OR name = '')",
    "SELECT ROW_NUMBER() OVER (ORDER BY price) AS n, name FROM product", "SELECT * FROM product WHERE name REGEXP '^[a-c]'",
    "SELECT JSON_KEYS('{\"a\": 1}')", "SELECT BENCHMARK(1, 1)", "SELECT ASCII('a'), ORD('b'), MID('abc', 1, 1)",
    "CREATE OR REPLACE VIEW cheap AS SELECT id FROM product WHERE price < 2 UNION SELECT id FROM product WHERE price IS NULL",
    "DROP PROCEDURE IF EXISTS tidy",
    "CREATE PROCEDURE tidy() BEGIN DELETE FROM product WHERE live = 2; SELECT COUNT(*) FROM product WHERE name = ';'; END", "CALL tidy()",
    # Slips of a person.
    "SELECT nmae FROM product", "SELCT 1", "SELECT * FROM porduct",
]


def run(session, sql):
    with session.cursor() as cursor:
        try:
            cursor.execute(sql)
            cursor.fetchall()
            while cursor.nextset():
                pass
        except pymysql.Error:
            pass


def of_wordpress():
    session = pymysql.connect(unix_socket=SOCKET, user="app_wordpress", password="shop", database="shop", autocommit=True)
    for table in (
        "wp_options (option_id BIGINT AUTO_INCREMENT PRIMARY KEY, option_name VARCHAR(191) UNIQUE, option_value LONGTEXT, autoload VARCHAR(20))",
        "wp_posts (ID BIGINT AUTO_INCREMENT PRIMARY KEY, post_author BIGINT, post_date DATETIME, post_content LONGTEXT, post_title TEXT, "
        "post_status VARCHAR(20), post_password VARCHAR(255), post_parent BIGINT, post_type VARCHAR(20))",
        "wp_postmeta (meta_id BIGINT AUTO_INCREMENT PRIMARY KEY, post_id BIGINT, meta_key VARCHAR(255), meta_value LONGTEXT)",
        "wp_users (ID BIGINT AUTO_INCREMENT PRIMARY KEY, user_login VARCHAR(60), user_pass VARCHAR(255))",
    ):
        run(session, f"CREATE TABLE IF NOT EXISTS {table}")
    for text in NASTY:
        for sql in WORDPRESS:
            run(session, sql.replace("{text}", session.escape_string(text)))
    return session


def of_others():
    session = pymysql.connect(unix_socket=SOCKET, user="app_reports", password="shop", database="shop", autocommit=True)
    for _ in range(3):
        for sql in OTHERS:
            run(session, sql)
    # Long enough to be cut where texts are kept, in the middle of a value.
    run(session, "SELECT id FROM product WHERE name = '" + "it is long, " * 400 + "'")
    return session


def of_visitors():
    """So often that each template of the shop is a usual statement."""
    for number in range(40):
        for path, value in (
            ("number", number), ("string", f"product {number}"), ("like", "pro"), ("order", "price"), ("column", "name"), ("stacked", number),
            ("login", "anna"),
        ):
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/{path}?value={value}&other=x".replace(" ", "+")) as page:
                page.read()


ENV = """
from alembic import context
from sqlalchemy import create_engine
with create_engine(context.config.get_main_option("sqlalchemy.url")).connect() as connection:
    context.configure(connection=connection)
    with context.begin_transaction():
        context.run_migrations()
"""
MIGRATIONS = {
    "001": ("None", """
        op.create_table("moved", sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.String(50), server_default="it's; new"))
        op.create_index("moved_name", "moved", ["name"])
        """, 'op.drop_table("moved")'),
    "002": ("'001'", """
        op.add_column("moved", sa.Column("price", sa.Numeric(10, 2), comment="in francs; or 1=1"))
        op.bulk_insert(sa.table("moved", sa.column("name")), [{"name": "' OR 1=1 -- "}, {"name": "b"}])
        op.execute("UPDATE moved SET name = CONCAT(name, '; -- ') WHERE id > 1")
        """, 'op.drop_column("moved", "price")'),
    "003": ("'002'", """
        with op.batch_alter_table("moved") as batch:
            batch.alter_column("name", new_column_name="title", existing_type=sa.String(50))
        op.create_unique_constraint("moved_title", "moved", ["title"])
        """, 'op.drop_constraint("moved_title", "moved", type_="unique"); '
             'op.alter_column("moved", "title", new_column_name="name", existing_type=sa.String(50))'),
}


def of_migrations():
    (DIR / "versions").mkdir(parents=True, exist_ok=True)
    (DIR / "env.py").write_text(ENV)
    for name, (before, up, down) in MIGRATIONS.items():
        body = textwrap.indent(textwrap.dedent(up).strip(), "    ")
        (DIR / "versions" / f"v{name}.py").write_text(
            f"from alembic import op\nimport sqlalchemy as sa\nrevision = '{name}'\ndown_revision = {before}\n"
            f"def upgrade():\n{body}\ndef downgrade():\n    {down}\n")
    config = alembic.config.Config(stdout=sys.stderr)
    config.set_main_option("script_location", str(DIR))
    config.set_main_option("sqlalchemy.url", url("app_migrate"))
    alembic.command.upgrade(config, "head")
    alembic.command.current(config)
    alembic.command.downgrade(config, "base")
    alembic.command.upgrade(config, "head")


if __name__ == "__main__":
    of_visitors()
    if DIR.name == "visitors":
        sys.exit()
    sessions = [of_orm(), of_wordpress(), of_others()]
    of_migrations()
    print("all is sent", file=sys.stderr, flush=True)
    sys.stdin.read()
